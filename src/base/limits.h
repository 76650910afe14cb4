// Every limit of the program in one place, with its reason. Over a limit is a named
// error, never growth. What a business may want to change is in domain/policy.h instead.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cardhour::limits {

// HTTP. A create request with ten SSH keys is under 16 KiB.
inline constexpr size_t kBodyBytes = 256 * 1024;
inline constexpr size_t kHeaderBytes = 16 * 1024;
inline constexpr size_t kConnections = 2'000;  // 64 KiB each at most
inline constexpr size_t kWorkerQueue = 256;    // about 1 s of work; then 503
inline constexpr int kWorkerThreads = 4;
inline constexpr int kIoThreads = 2;
inline constexpr int kHeaderTimeoutSeconds = 15;  // slow-header attacks
inline constexpr int kIdleTimeoutSeconds = 75;
inline constexpr int kWaitSecondsMax = 60;  // ?wait=
inline constexpr size_t kSseStreams = 500;
inline constexpr size_t kSseBacklogBytes = 256 * 1024;  // a slower reader is cut and resumes by id

// The console. Its files are held in memory; a build is about 5 MiB with its compressed variants.
inline constexpr size_t kConsoleBytes = 48 * 1024 * 1024;
inline constexpr int kConsoleFiles = 2'000;

// Tickets: a WebSocket's address carries one instead of a secret.
inline constexpr int kTicketSeconds = 30;         // from the answer to the upgrade
inline constexpr size_t kTicketsPerSession = 16;  // one for each terminal that reconnects at once
inline constexpr size_t kTickets = 4'096;         // about 1 MB; then 503

// Terminals.
inline constexpr size_t kTerminalsPerInstance = 4;
inline constexpr size_t kTerminalsPerAccount = 16;
inline constexpr size_t kTerminals = 512;  // of everybody: 350 MB with all their buffers full
inline constexpr size_t kTerminalOutputBytes = 256 * 1024;  // scrollback, and unsent output
inline constexpr size_t kTerminalInputBytes = 256 * 1024;   // typed, not yet taken by the shell
inline constexpr size_t kTerminalFrameBytes = 64 * 1024;    // one WebSocket message
inline constexpr int kTerminalDetachedSeconds = 600;        // a closed laptop on its way to a desk
inline constexpr int kTerminalEndedSeconds = 60;  // how long its last words wait for a reader
inline constexpr int kTerminalColumnsMax = 1'000;
inline constexpr int kTerminalRowsMax = 1'000;

// Pages.
inline constexpr int kPageDefault = 20;
inline constexpr int kPageMax = 100;

// Text people type.
inline constexpr size_t kNameBytes = 128;
inline constexpr size_t kLoginBytes = 64;
inline constexpr size_t kPasswordBytesMin = 8;
inline constexpr size_t kPasswordBytesMax = 256;
inline constexpr size_t kNoteBytes = 500;
inline constexpr size_t kSshKeyBytes = 8 * 1024;  // RSA 16384 with a comment fits
inline constexpr int kSshKeysPerAccount = 20;
inline constexpr int kTokensPerAccount = 50;
inline constexpr size_t kIdempotencyKeyBytes = 128;

// Shapes.
inline constexpr int kCardsPerInstanceMax = 16;

// Telemetry. A screen is some 1000 points wide; a day of 10 s slots still fits.
inline constexpr int64_t kSeriesPointsMax = 10'000;

// Loops: how much one pass may take before it yields.
inline constexpr int kDueAccountsPerPass = 200;     // read at once
inline constexpr int kSettleRoundsPerPass = 50;     // of those; then reconcile has its turn
inline constexpr int kSegmentsPerSettlement = 500;  // a transaction: about 8 ms of the one writer
inline constexpr int kOperationWorkers = 8;

}  // namespace cardhour::limits
