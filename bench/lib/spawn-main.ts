import { serveHelper } from './helper.ts';
import { runProcess } from './measure.ts';

/** Program of a process that is as small as Node gets and only spawns, as the sandbox's own spawner is. */
serveHelper<readonly string[]>(async ([program = '', ...args]) => {
  await runProcess(program, args);
});
