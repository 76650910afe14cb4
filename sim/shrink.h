// Shrink: takes lines out of a failing script for as long as it still fails in the same way
// (delta debugging). Thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace cardhour {

// The shortest list found that `still_fails`; `may_go_on` is asked before each attempt. The list
// given fails.
std::vector<std::string> shrink(
    std::vector<std::string> lines,
    const std::function<bool(const std::vector<std::string>&)>& still_fails,
    const std::function<bool()>& may_go_on);

// What is the same of two failures: their words without ids and numbers.
std::string kind_of_failure(const std::string& broken);

}  // namespace cardhour
