import { hostname } from 'node:os';
import { chainPlaces, headLine, readHead, readKey } from '../../audit/head.ts';
import { type AuditDeps, type AuditLog, createAuditLog } from '../../audit/log.ts';
import { shipPlaces } from '../../audit/shipped.ts';
import { readSource, type SourceEnvironment } from '../../config/credential-source.ts';
import type { Config } from '../../config/schema.ts';
import { PACKAGE_VERSION } from '../../protocol/versions.ts';
import type { Destination } from './ship/destination.ts';
import { HeadShipping } from './ship/head-shipping.ts';
import { otlpDestination } from './ship/otlp.ts';
import { s3Destination } from './ship/s3.ts';

interface BuildAuditDeps extends Pick<AuditDeps, 'dir' | 'clock' | 'logger' | 'onRecord'> {
  config: Config['audit'];
  environment: SourceEnvironment;
}

/** Builds the audit log, and what sends its heads to other machines. */
export function buildAudit(deps: BuildAuditDeps): { auditLog: AuditLog; headShipping: HeadShipping } {
  const { config, dir, clock, logger } = deps;
  const headShipping = new HeadShipping({
    dir,
    destinations: destinationsOf(deps),
    head() {
      const places = chainPlaces(dir);
      const key = readKey(places);
      const head = key === null ? 'missing' : readHead(places, key);
      if (typeof head === 'string' || head.seq === 0) return null;
      return { seq: head.seq, line: JSON.stringify(headLine(head, clock.now())) };
    },
    intervalMs: config.ship.minutes * 60_000,
    clock,
    random: Math.random,
    logger,
  });
  const { durable: isDurable, keep_days: keepDays } = config;
  const auditLog = createAuditLog({ ...deps, isDurable, keepDays, onSegment: () => headShipping.sealed() });
  return { auditLog, headShipping };
}

function destinationsOf({ config: { ship }, environment }: BuildAuditDeps): Destination[] {
  const host = hostname();
  const { otlp_url: url, otlp_token_file: tokenFile, s3_bucket: bucket, s3_endpoint: endpoint } = ship;
  const { s3_region: region, s3_prefix: prefix, s3_profile: profile } = ship;
  const token = async (): Promise<string | null> =>
    tokenFile === null ? null : readSource({ kind: 'file', path: tokenFile }, '', environment);
  const logs = shipPlaces({ ...ship, s3_bucket: null }).flatMap((place) =>
    url === null ? [] : [otlpDestination({ place, url, host, version: PACKAGE_VERSION, token })],
  );
  const objects = shipPlaces({ ...ship, otlp_url: null }).flatMap((place) =>
    bucket === null ? [] : [s3Destination({ place, bucket, endpoint, region, prefix, profile, host })],
  );
  return [...logs, ...objects];
}
