// The child process that talks to the driver: `cardhour gpu-reader`. NVML calls can hang in the
// kernel, where no thread can be taken back and not even a kill helps; a process of its own keeps
// that away from the server. It reads one question a line ("probe", "sample") and answers each
// with one line of JSON, until its input ends. An exclusive lock on a file keeps it the only one
// on its host, over restarts of the server too.
#pragma once

#include <string>
#include <string_view>

#include "ports/gpu_probe.h"

namespace cardhour {

// Arguments as main's: gpu-reader --library PATH [--lock PATH]. Returns the exit code.
int gpu_child_main(int argc, char** argv);

// One line of JSON, without its end.
std::string gpu_answer_text(const Result<ProbedGpus>& answer);
std::string gpu_answer_text(const Result<GpuSample>& answer);
// The other way; engine_failed when the text is none of these.
Result<ProbedGpus> probe_answer(std::string_view text);
Result<GpuSample> sample_answer(std::string_view text);

}  // namespace cardhour
