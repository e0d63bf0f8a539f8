/** The number of cases of a property test: 300 in the gate, `CONTEXTD_PROPERTY_RUNS=10000` at night. */
export function propertyRuns(): number {
  return Number(process.env.CONTEXTD_PROPERTY_RUNS ?? 300);
}

/** The number of cases of a generator of `test/escape`: `inGate` in the gate, `CONTEXTD_SHAPE_RUNS=20000` at night. */
export function shapeRuns(inGate: number): number {
  return Number(process.env.CONTEXTD_SHAPE_RUNS ?? inGate);
}
