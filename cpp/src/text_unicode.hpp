// The `unicode` analyzer. text.hpp says what it gives.
#pragma once

#include <string_view>

#include "pincite/text.hpp"

namespace pincite {

void analyze_unicode(std::string_view text, AnalysisMode mode, const TokenSink& sink);

}  // namespace pincite
