/** Cases of one property test: 300 in the gate, `CONTEXTD_PROPERTY_RUNS=10000` at night. */
export function propertyRuns(): number {
  return Number(process.env.CONTEXTD_PROPERTY_RUNS ?? 300);
}
