import { fileURLToPath } from 'node:url';
import { isMainThread, parentPort } from 'node:worker_threads';
import { branch } from '../../../tools/branch/main.ts';
import { checkpointList } from '../../../tools/checkpoint_list/main.ts';
import { checkpointRestore } from '../../../tools/checkpoint_restore/main.ts';
import { checkpointSave } from '../../../tools/checkpoint_save/main.ts';
import { jobs } from '../../../tools/jobs/main.ts';
import { memoryFeedback } from '../../../tools/memory_feedback/main.ts';
import { memoryGet } from '../../../tools/memory_get/main.ts';
import { memorySearch } from '../../../tools/memory_search/main.ts';
import { memoryStore } from '../../../tools/memory_store/main.ts';
import { returnFromBranch } from '../../../tools/return/main.ts';
import { safeBash } from '../../../tools/safe_bash/main.ts';
import { safeRead } from '../../../tools/safe_read/main.ts';
import { createSafeWrite } from '../../../tools/safe_write/main.ts';
import { sessionInit } from '../../../tools/session_init/main.ts';
import { toolView } from '../../../tools/tool_view/main.ts';
import { readRuleBundle } from '../../scrub/exact/rule-pack.ts';
import { createEngine, deferEngine } from '../../scrub/hardened/engine.ts';
import { serveTools } from '../../sdk/serve.ts';
import { answerScans, FirstPass } from '../first-pass.ts';

/**
 * The program of the core tools' process: bundled into `dist/core-bundle/main.js`, with the rules beside it, and run in
 * the sandbox. It scans long outputs in a worker thread that runs the same file. The daemon has compiled the same rules
 * already, so here each rule is compiled when a text needs it.
 */
const rules = fileURLToPath(new URL('./rules.json', import.meta.url));
const engine = deferEngine(() => {
  const { pack, official } = readRuleBundle(rules);
  return createEngine(pack, { official, compile: 'when used' });
});

if (isMainThread) {
  const firstPass = new FirstPass(engine, new URL(import.meta.url));
  const memory = [memoryFeedback, memoryGet, memorySearch, memoryStore];
  const checkpoints = [checkpointList, checkpointRestore, checkpointSave];
  serveTools(
    [
      branch,
      ...checkpoints,
      jobs,
      ...memory,
      returnFromBranch,
      safeBash,
      safeRead,
      createSafeWrite(),
      sessionInit,
      toolView,
    ],
    {
      scan: (output) => firstPass.scan(output),
    },
  );
} else if (parentPort !== null) {
  answerScans(engine, parentPort);
}
