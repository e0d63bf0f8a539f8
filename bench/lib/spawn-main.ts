import { serveHelper } from './helper.ts';
import { runProcess } from './measure.ts';

/** A Node process that only spawns and is as small as possible, like the sandbox's own spawner. */
serveHelper<readonly string[]>(async ([program = '', ...args]) => {
  await runProcess(program, args);
});
