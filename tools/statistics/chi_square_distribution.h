// The chi-square distributions, central and not: p-values, critical values, and what is needed for
// a given power. Pure; precise to about 1e-12 of the value, which may be as small as a double gets.
#pragma once

namespace slipstream::statistics {

// Q(k/2, x/2): the chance that a chi-square variable of k degrees exceeds x.
double chi_square_tail(double x, int degrees);

// The same of a non-central one: the mixture of central ones of k + 2j degrees, with j of Poisson's
// distribution of mean noncentrality / 2 (Johnson, Kotz and Balakrishnan, Continuous Univariate
// Distributions 2, eq. 29.2).
double noncentral_tail(double x, int degrees, double noncentrality);

// The value that a central variable exceeds with chance alpha.
double critical_value(int degrees, double alpha);

// The least noncentrality at which a test at level alpha rejects with chance `power`.
double noncentrality_for(int degrees, double alpha, double power);

}  // namespace slipstream::statistics
