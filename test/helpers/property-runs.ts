/**
 * Cases of a property in the gate: of a function, of a function that takes tens of milliseconds for one case, or of a whole
 * call through the proxy and the daemon.
 */
const IN_GATE = { function: 300, slow: 60, door: 20 };

/** `CONTEXTD_PROPERTY_RUNS` is the number for a function: 10,000 at night, 30 in `npm run test:unit`. All others follow it. */
const FACTOR = Number(process.env.CONTEXTD_PROPERTY_RUNS ?? IN_GATE.function) / IN_GATE.function;

/**
 * The number of cases of a property test. A property at the door proves that the parts are put together; those of its
 * functions have the many cases. `times` is for a property that needs more or fewer than others: a comment says why.
 * A property without a number has those of a function (`fast-check-defaults.ts`).
 */
export function propertyRuns(at: keyof typeof IN_GATE = 'function', times = 1): number {
  return Math.ceil(IN_GATE[at] * times * FACTOR);
}

/** True in `npm run nightly`. Other runs have those rows of an expensive matrix that prove each side of it once (decision 0122). */
export const AT_NIGHT = process.env.CONTEXTD_SHAPE_RUNS !== undefined;

/** Every how many-th of all cases is tried: `inGate` in the gate, each one at night. */
export function stride(inGate: number): number {
  return AT_NIGHT ? 1 : Math.max(1, Math.round(inGate / FACTOR));
}

/** The number of cases that take a sandbox, a program or a database each: `CONTEXTD_SHAPE_RUNS=20000` at night. */
export function shapeRuns(inGate: number): number {
  return Number(process.env.CONTEXTD_SHAPE_RUNS ?? Math.ceil(inGate * FACTOR));
}

/** The seed of random cases. It is fixed in the gate, so that two runs try the same cases, and the date at night. */
export const PROPERTY_SEED = Number(process.env.CONTEXTD_PROPERTY_SEED ?? 20_261_121);
