// The central and the noncentral chi-square distribution: p-values, critical values, and the
// noncentrality for a given power. Pure. Relative error about 1e-12, down to the smallest doubles.
#pragma once

namespace slipstream::statistics {

// Q(k/2, x/2): the chance that a chi-square variable with k degrees of freedom exceeds x.
double chi_square_tail(double x, int degrees);

// The same for a noncentral variable: the mixture of central ones with k + 2j degrees, where j is
// Poisson with mean noncentrality / 2 (Johnson, Kotz and Balakrishnan, Continuous Univariate
// Distributions 2, eq. 29.2).
double noncentral_tail(double x, int degrees, double noncentrality);

// The value that a central variable exceeds with chance alpha.
double critical_value(int degrees, double alpha);

// The smallest noncentrality at which a test at level alpha rejects with chance `power`.
double noncentrality_for(int degrees, double alpha, double power);

}  // namespace slipstream::statistics
