import type { Composition } from '../core/lifecycle.ts';
import type { Door } from '../doors/grpc/grpc.ts';
import { buildEntrance } from './build-entrance.ts';
import { buildExecution } from './build-execution.ts';
import { buildRemembering, buildSessionKeeping } from './build-remembering.ts';
import { buildScrubbing } from './build-scrubbing.ts';
import { buildStores } from './build-stores.ts';
import type { ComposeDeps } from './compose-deps.ts';
import type { DaemonParts } from './parts.ts';
import { startOrder } from './start-order.ts';

interface DaemonComposition extends Composition {
  built: DaemonParts;
}

/**
 * Builds every part of the daemon once, each from the ones before it. The only file that sees all of them. A test that
 * calls the parts directly passes a `door` that does not listen.
 */
export function compose(deps: ComposeDeps, door?: Door): DaemonComposition {
  const stores = buildStores(deps);
  const scrubbing = buildScrubbing(deps, stores);
  const remembering = buildRemembering(deps, { ...stores, ...scrubbing });
  const keeping = buildSessionKeeping(deps, remembering);
  const known = { ...stores, ...scrubbing, ...remembering, ...keeping };
  const execution = buildExecution(deps, known);
  const entrance = buildEntrance(deps, { ...known, ...execution }, door);
  const built = { ...known, ...execution, ...entrance };
  const { scrubber, departure } = built;
  return {
    built,
    parts: startOrder(deps, built),
    drain: (graceMs, cause) => departure.drain(graceMs, cause),
    mask: (text) => scrubber.maskText(text),
    maskLater: (texts) => scrubber.maskTexts(texts),
  };
}
