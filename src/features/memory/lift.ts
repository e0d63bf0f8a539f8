/** What a memory changes, from sessions that saw it and sessions from which it was held out. Pure. */

/** Sessions of one kind whose outcome is known. `good` is the sum of their outcomes: mixed counts half. */
export interface Trials {
  readonly count: number;
  readonly good: number;
}

/** The difference of two shares of successes. */
export interface Lift {
  readonly lift: number;
  /** The 95 % interval. */
  readonly low: number;
  readonly high: number;
  readonly verdict: LiftVerdict;
}

/** `no difference`: a large one would have been seen. */
export type LiftVerdict = 'helps' | 'harms' | 'no difference' | 'too little data';

/** Standard deviations of a 95 % interval. */
const Z = 1.959963984540054;
/** The fewest sessions of each kind of which anything is said. */
const SESSIONS_MIN = 5;
/** The widest interval that says anything if zero is in it. */
const WIDTH_MAX = 0.4;

/** Newcombe's interval for the difference of two proportions, from Wilson's for each (1998, method 10). */
export function liftOf(shown: Trials, heldOut: Trials): Lift {
  const [one, other] = [wilson(shown), wilson(heldOut)];
  const lift = one.share - other.share;
  const low = lift - Math.hypot(one.share - one.low, other.high - other.share);
  const high = lift + Math.hypot(one.high - one.share, other.share - other.low);
  const isEnough = shown.count >= SESSIONS_MIN && heldOut.count >= SESSIONS_MIN;
  return { lift, low, high, verdict: isEnough ? verdictOf(low, high) : 'too little data' };
}

function verdictOf(low: number, high: number): LiftVerdict {
  if (low > 0) return 'helps';
  if (high < 0) return 'harms';
  return high - low <= WIDTH_MAX ? 'no difference' : 'too little data';
}

/** Without a session everything is possible. */
function wilson({ count, good }: Trials): { share: number; low: number; high: number } {
  if (count === 0) return { share: 0, low: 0, high: 1 };
  const share = good / count;
  const center = (share + Z ** 2 / (2 * count)) / (1 + Z ** 2 / count);
  const half = (Z * Math.sqrt((share * (1 - share)) / count + Z ** 2 / (4 * count ** 2))) / (1 + Z ** 2 / count);
  return { share, low: Math.min(share, center - half), high: Math.max(share, center + half) };
}
