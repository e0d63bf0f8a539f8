import { posix } from 'node:path';
import { fill, locate, type Place, type Step } from './shape.ts';

/** Returns a shell script that takes the steps from the project's root. If a step fails, the next one still runs. */
export function scriptOf(steps: readonly Step[], place: Place): string {
  return steps.map((step) => `{ ${commandOf(step, place)}; } 2>/dev/null || true`).join('\n');
}

function commandOf(step: Step, place: Place): string {
  const path = quoted(locate(step.path, place));
  const dir = quoted(posix.dirname(locate(step.path, place)));
  switch (step.do) {
    case 'write': {
      const text = quoted(fill(step.text, place));
      const redirect = step.append ? '>>' : '>';
      const replace = step.append || step.inPlace ? '' : `rm -f ${path}; `;
      const mode = step.executable ? ` && chmod 755 ${path}` : '';
      return `mkdir -p ${dir}; ${replace}printf %s ${text} ${redirect}${path}${mode}`;
    }
    case 'mkdir':
      return `mkdir -p ${path}`;
    case 'pipe':
      return `mkdir -p ${dir}; rm -rf ${path}; mkfifo ${path}`;
    case 'link':
      return `mkdir -p ${dir}; rm -rf ${path}; ln -s ${quoted(fill(step.to, place))} ${path}`;
    case 'hard link': {
      const from = quoted(locate(step.to, place));
      return `mkdir -p ${dir}; ln ${from} ${path}`;
    }
    case 'move': {
      const to = locate(step.to, place);
      return `mkdir -p ${quoted(posix.dirname(to))}; rm -rf ${quoted(to)}; mv -T ${path} ${quoted(to)}`;
    }
    case 'gitlink':
      return `git update-index --add --cacheinfo 160000,${place.commits.head},${path}`;
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
