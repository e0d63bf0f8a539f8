import { NOT_SHIPPED, readShipments, shipPlaces } from '../../audit/shipped.ts';
import { loadConfig } from '../../config/load.ts';
import type { CliContext } from '../context.ts';
import type { Check } from '../render.ts';
import { ok, warn } from './check.ts';

/** Whether other machines have heads of the audit log. Nothing without settings for it. */
export async function checkAuditShipping({ paths }: CliContext): Promise<Check[]> {
  const { audit } = await loadConfig(paths);
  const shipments = readShipments(paths.auditDir);
  return shipPlaces(audit.ship).map(({ key, name: place }) => {
    const { seq, sent, fault } = shipments[key] ?? NOT_SHIPPED;
    const name = 'audit heads elsewhere';
    const last = seq === 0 ? 'has no head yet' : `has the head of record ${seq} since ${sent}`;
    if (fault === '') return ok(name, `${place} ${last}`);
    const remedy = 'Check audit.ship in the configuration, and the server. The daemon tries again by itself.';
    return warn(name, `${place} ${fault}; it ${last}`, remedy);
  });
}
