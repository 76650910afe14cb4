// Lists that must be complete across rooms: who adds to one is told here what is missing.
#include <gtest/gtest.h>

#include <boost/describe/enumerators.hpp>
#include <boost/mp11/algorithm.hpp>

#include "adapters/http/problem.h"
#include "cli/context.h"
#include "cli/decode.h"

namespace cardhour {
namespace {

// From the server's error to the CLI's exit code: each code travels, with its text in both
// languages.
TEST(ErrorCodes, ArriveWithStatusTextAndExitCode) {
  boost::mp11::mp_for_each<boost::describe::describe_enumerators<ErrorCode>>([](auto described) {
    const ErrorRow& row = error_row(described.value);
    for (const Language language : {Language::en, Language::zh}) {
      const Error sent{described.value, {"what", "什么"}, {"next", "怎么办"}, ""};
      const http::Response response = http::problem_response(sent, language);
      EXPECT_EQ(response.status, row.http_status) << described.name;
      EXPECT_NE(response.body.find(row.title.in(language)), std::string::npos) << response.body;
      const Error arrived = cli::problem_error(response.status, response.body);
      EXPECT_EQ(arrived.code, described.value) << described.name;
      EXPECT_EQ(arrived.what.in(language), sent.what.in(language)) << described.name;
      EXPECT_EQ(arrived.next.in(language), sent.next.in(language)) << described.name;
      EXPECT_EQ(cli::report(arrived, language), row.exit_code) << described.name;
    }
  });
}

}  // namespace
}  // namespace cardhour
