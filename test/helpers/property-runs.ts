/**
 * Cases of a property in the gate: of a function, of a function that takes tens of milliseconds for one case, or of a whole
 * call through the proxy and the daemon.
 */
const IN_GATE = { function: 300, slow: 60, door: 20 };

/**
 * The number of cases of a property test, `CONTEXTD_PROPERTY_RUNS=10000` at night. A property at the door proves that the
 * parts are put together; those of its functions have the many cases.
 */
export function propertyRuns(at: keyof typeof IN_GATE = 'function'): number {
  return Number(process.env.CONTEXTD_PROPERTY_RUNS ?? IN_GATE[at]);
}

/** Every how many-th of all cases is tried in the gate; at night it is each one. */
export function stride(inGate: number): number {
  return process.env.CONTEXTD_SHAPE_RUNS === undefined ? inGate : 1;
}

/** The number of cases of a generator of `test/escape`: `inGate` in the gate, `CONTEXTD_SHAPE_RUNS=20000` at night. */
export function shapeRuns(inGate: number): number {
  return Number(process.env.CONTEXTD_SHAPE_RUNS ?? inGate);
}
