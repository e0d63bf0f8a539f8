import { ContextdError } from '../../core/errors.ts';
import { Detector } from '../../scrub/exact/detector.ts';
import { loadConfig } from '../../scrub/exact/load-config.ts';
import type { Finding } from '../../scrub/finding.ts';
import { readOfficialConfig } from '../../scrub/gitleaks/official-config.ts';
import { mergeFindings } from '../../scrub/spans.ts';
import type { ScrubbedText } from './text-scrubber.ts';

/** Reports the findings of gitleaks one by one, several for the same place if gitleaks does. */
export type ExactScrub = (text: string, path?: string) => ScrubbedText;

/** Uses gitleaks' own configuration only. */
export function createExactScrub(): ExactScrub {
  const official = readOfficialConfig();
  const config = loadConfig(official, { readFile: refuseToRead, official: official.text });
  const detector = new Detector(config, { compile: 'when used' });
  return (text, path) => {
    const detections = detector.detect(text, path === undefined ? {} : { path });
    const findings = detections.map(({ rule, start, end }) => ({ rule, start, end }));
    return { text: maskAll(text, findings), findings: findings.sort((a, b) => a.start - b.start || b.end - a.end) };
  };
}

function refuseToRead(path: string): string {
  throw new ContextdError('SCHEMA_INVALID', `gitleaks' own configuration extends ${path}`);
}

/** Equal values get the same number. */
function maskAll(text: string, findings: readonly Finding[]): string {
  const numbers = new Map<string, number>();
  let masked = '';
  let from = 0;
  for (const { start, end } of mergeFindings(findings)) {
    const value = text.slice(start, end);
    const number = numbers.get(value) ?? numbers.size + 1;
    numbers.set(value, number);
    masked += `${text.slice(from, start)}[SECRET_${number}]`;
    from = end;
  }
  return masked + text.slice(from);
}
