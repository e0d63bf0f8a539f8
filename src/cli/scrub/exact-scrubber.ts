import { ContextdError } from '../../core/errors.ts';
import { Detector } from '../../scrub/exact/detector.ts';
import { loadConfig } from '../../scrub/exact/load-config.ts';
import type { Finding } from '../../scrub/finding.ts';
import type { GitleaksPlaces } from '../../scrub/gitleaks/binary.ts';
import { findOfficialConfig } from '../../scrub/gitleaks/official-config.ts';
import { howToInstall } from '../../scrub/gitleaks/pinned.ts';
import { mergeFindings } from '../../scrub/spans.ts';
import type { ScrubbedText } from './text-scrubber.ts';

/** What gitleaks reports of a text: one finding for each of its own, the same place more than once where it says so. */
export type ExactScrub = (text: string, path?: string) => ScrubbedText;

/** gitleaks' own configuration and nothing else. NOT_FOUND with the remedy where it is not to be had. */
export async function createExactScrub(places: GitleaksPlaces, installRoot: string): Promise<ExactScrub> {
  const official = await findOfficialConfig(places);
  if (official === null) {
    throw new ContextdError('NOT_FOUND', "gitleaks' configuration is not on this machine, and --exact is that alone", {
      remedy: howToInstall(installRoot),
    });
  }
  const config = loadConfig(official.file, { readFile: refuseToRead, official: official.file.text });
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

/** Equal values of one text have the same number. */
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
