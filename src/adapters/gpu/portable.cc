// What lets the two objects that run inside renters' images (cardhour-cards and the
// simulated NVML) run on glibc 2.17 and newer, although they are built on a newer system:
// Debian's static libstdc++ needs glibc 2.36, so they are linked without it, and this file
// brings the few functions of it that their templates call. They are compiled without
// exceptions; where libstdc++ would throw, they abort.
// The start-up code of glibc 2.34 and newer cannot run on older ones either; a program
// built with CARDHOUR_PORTABLE_START gets this one, which runs on both. It runs no static
// constructors on the older ones: such a program must have none.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

namespace {

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "cardhour: %s\n", why);
  std::abort();
}

}  // namespace

void* operator new(std::size_t bytes) {
  void* memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) give_up("out of memory");
  return memory;
}
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

extern "C" void __cxa_pure_virtual() { give_up("pure virtual call"); }

namespace std {
void __throw_length_error(const char* what) { give_up(what); }
void __throw_logic_error(const char* what) { give_up(what); }
void __throw_out_of_range_fmt(const char* what, ...) { give_up(what); }
void __throw_bad_alloc() { give_up("out of memory"); }
void __throw_system_error(int) { give_up("a lock failed"); }
void __throw_bad_array_new_length() { give_up("out of memory"); }
}  // namespace std

// The headers declare it extern; C++20's string is not.
template class std::allocator<char>;

#ifdef CARDHOUR_PORTABLE_START
extern "C" int main(int, char**);
extern "C" int old_libc_start_main(decltype(main)* run, int argc, char** argv, void (*init)(),
                                   void (*fini)(), void (*rtld_fini)(), void* stack_end);
__asm__(".symver old_libc_start_main, __libc_start_main@GLIBC_2.2.5");

extern "C" [[noreturn]] __attribute__((used)) void start_in_c(void** stack, void (*rtld_fini)()) {
  old_libc_start_main(main, static_cast<int>(reinterpret_cast<long>(stack[0])),
                      reinterpret_cast<char**>(stack + 1), nullptr, nullptr, rtld_fini, stack);
  __builtin_unreachable();
}

// As the x86-64 psABI (3.4.1) hands it over: argc at the stack pointer, rtld_fini in rdx.
__asm__(R"(
    .text
    .globl _start
    .type _start, @function
_start:
    xor %ebp, %ebp
    mov %rsp, %rdi
    mov %rdx, %rsi
    and $-16, %rsp
    call start_in_c
    hlt
)");
#endif
