/* Statistics against values worked out by hand. */
#include "measure/accuracy.h"

#include <criterion/criterion.h>
#include <math.h>

static bool near(double a, double b) {
    return fabs(a - b) <= 1e-12 * fmax(1, fabs(b));
}

Test(accuracy, by_hand) {
    /* errors +10 %, -20 %, 0, and one that is not known */
    const accuracy_point p[] = {{1, 11, 10}, {2, 16, 20}, {3, 30, 30}, {4, NAN, 40}, {5, 50, NAN}};
    const accuracy a = accuracy_of(p, 5, 0.10, 0.5);
    cr_expect_eq(a.points, 3);
    cr_expect(near(a.mape, 0.1));
    cr_expect(near(a.mean_ratio, cbrt(1.1 * 0.8)));
    cr_expect(near(a.within, 2.0 / 3));
    cr_expect_eq(a.worst, 1);
    cr_expect(near(a.worst_error, -0.2));
    cr_expect(near(a.kendall, 1));
    /* deviations from the means 19 and 20: (-8,-10), (-3,0), (11,10): 190 / sqrt(194 * 200) */
    cr_expect(near(a.pearson, 190 / sqrt(194.0 * 200)));
    /* 10:20 and 10:30 differ by more than half of the smaller; 20:30 by exactly half, which is not more */
    cr_expect_eq(a.ranked_pairs, 2);
    cr_expect_eq(a.wrong_pairs, 0);
}

Test(accuracy, ranks_with_ties) {
    /* pairs: (1,2) agree, (1,3) tied in the predictions, (2,3) disagree: tau-b = 0 / sqrt(2 * 3) */
    const accuracy_point p[] = {{0, 1, 10}, {0, 2, 20}, {0, 1, 30}};
    const accuracy a = accuracy_of(p, 3, NAN, 0.15);
    cr_expect(near(a.kendall, 0));
    cr_expect_eq(a.ranked_pairs, 3);
    cr_expect_eq(a.wrong_pairs, 2); /* a tie is no order */
    cr_expect(isnan(a.within));
}

Test(accuracy, nothing_known_is_not_zero) {
    const accuracy_point p[] = {{0, NAN, 10}, {0, 3, 0}};
    const accuracy a = accuracy_of(p, 2, 0.1, 0.1);
    cr_expect_eq(a.points, 0);
    cr_expect(isnan(a.mape) && isnan(a.mean_ratio) && isnan(a.pearson) && isnan(a.kendall) && isnan(a.within));
    cr_expect(isnan(accuracy_error(3, 0)));
    cr_expect_eq(accuracy_error(0, 0), 0);
}

Test(accuracy, plateaus_and_knees) {
    /* measured: 10 up to x = 4, 30 from 16 on, half way (20) at 8; predicted: 10, 30, half way at sqrt(2 * 4) */
    const accuracy_point p[] = {{1, 10, 10}, {2, 10, 10}, {4, 30, 10}, {16, 30, 30}, {32, 31, 30}, {64, 29, 30}};
    const accuracy_level low = accuracy_plateau(p, 6, 1, 2), high = accuracy_plateau(p, 6, 16, 64);
    cr_expect_eq(low.predicted, 10);
    cr_expect_eq(low.measured, 10);
    cr_expect_eq(high.predicted, 30);
    cr_expect_eq(high.measured, 30);
    const accuracy_level knee = accuracy_knee(p, 6, 1, 64, low, high);
    cr_expect(near(knee.measured, 8));
    cr_expect(near(knee.predicted, sqrt(8)));
    cr_expect(isnan(accuracy_plateau(p, 6, 100, 200).predicted));
}
