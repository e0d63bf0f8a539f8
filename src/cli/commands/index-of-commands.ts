import type { Command } from '../command.ts';
import { auditTail } from './audit-tail.ts';
import { configGet } from './config-get.ts';
import { configList } from './config-list.ts';
import { configSet } from './config-set.ts';
import { doctor } from './doctor.ts';
import { init } from './init.ts';
import { quarantineAccept } from './quarantine-accept.ts';
import { quarantineList } from './quarantine-list.ts';
import { quarantineRestore } from './quarantine-restore.ts';
import { scrub } from './scrub.ts';
import { scrubApprove } from './scrub-approve.ts';
import { serverLogs } from './server-logs.ts';
import { serverRestart } from './server-restart.ts';
import { serverStart } from './server-start.ts';
import { serverStatus } from './server-status.ts';
import { serverStop } from './server-stop.ts';
import { sessionSecrets } from './session-secrets.ts';
import { stats } from './stats.ts';
import { toolInfo } from './tool-info.ts';
import { toolList } from './tool-list.ts';
import { toolRun } from './tool-run.ts';
import { toolVerify } from './tool-verify.ts';

/** Every command, in the order of the help. */
export const COMMANDS: readonly Command[] = [
  init,
  serverStart,
  serverStop,
  serverRestart,
  serverStatus,
  serverLogs,
  toolList,
  toolInfo,
  toolRun,
  toolVerify,
  doctor,
  configGet,
  configSet,
  configList,
  auditTail,
  sessionSecrets,
  stats,
  scrub,
  scrubApprove,
  quarantineList,
  quarantineRestore,
  quarantineAccept,
];
