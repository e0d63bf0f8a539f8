import type { AuditorState } from '../scrub/gitleaks/auditor.ts';
import { howToInstall } from '../scrub/gitleaks/pinned.ts';
import type { HealthCheck } from '../server/door.ts';
import type { StandingAuditorState } from './standing-auditor.ts';

type Finding = Omit<HealthCheck, 'name'>;

/** One line of `ctxd doctor` on the standing auditor. A secret that only it found is a warning. */
export function checkAuditor({ use, program, background }: StandingAuditorState, installRoot: string): Finding {
  if (use === 'off') return ok('off (scrub.gitleaks)');
  if (program === null) return withoutProgram(use, installRoot);
  const what = `gitleaks ${program.version ?? 'of unknown version'}`;
  if (background === null) return ok(`${what} searches every answer before it leaves`);
  if (background.missed > 0) return missed(background);
  const counts = `${background.searched} outputs searched, ${background.waiting} wait`;
  if (background.failures + background.skipped === 0) return ok(`${what}: ${counts}`);
  return {
    status: 'warn',
    detail: `${what}: ${counts}, ${background.skipped} left out, ${background.failures} runs failed`,
    remedy: 'See `ctxd server logs` for why it failed.',
  };
}

function missed({ missed: count, missedRules }: AuditorState): Finding {
  return {
    status: 'warn',
    detail: `it found ${count} secrets that had been let through (${missedRules.join(', ')}); they are masked now`,
    remedy: 'See `ctxd stats`; the agent may have seen them, so change them.',
  };
}

function withoutProgram(use: 'background' | 'always', installRoot: string): Finding {
  const remedy = `${howToInstall(installRoot)} Then run \`ctxd server restart\`.`;
  if (use === 'background') {
    return { status: 'warn', detail: 'not installed: stored outputs are not searched a second time', remedy };
  }
  const detail = 'scrub.gitleaks is always and there is no gitleaks, so every answer is withheld';
  return { status: 'fail', detail, remedy };
}

function ok(detail: string): Finding {
  return { status: 'ok', detail, remedy: '' };
}
