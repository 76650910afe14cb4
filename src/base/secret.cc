#include "base/secret.h"

#include <string.h>

namespace cardhour {

Secret::~Secret() { explicit_bzero(text_.data(), text_.size()); }

}  // namespace cardhour
