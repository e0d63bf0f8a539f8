import { createHash } from 'node:crypto';
import type { Config } from '../../config/schema.ts';
import type { Json } from '../../core/json.ts';
import type { VerifiedCall } from '../../dispatch/call.ts';
import { baseView } from '../../sandbox/contract/policy.ts';
import type { ApprovalRule } from '../../stores/approval-rules.ts';
import type { Network } from '../network/network.ts';
import type { Outside } from './outside.ts';
import { policyFor } from './policy.ts';

export interface PolicyHashDeps {
  outside: Pick<Outside, 'decidedFor'>;
  network: Pick<Network, 'isOn' | 'rulesFor'>;
  approvalRules: { list(): readonly ApprovalRule[] };
  config: Pick<Config, 'sandbox'>;
}

/**
 * SHA-256 (hex) of what holds for a call: the tool's bytes, profile and grants; the settings of the sandbox; and what a person
 * allowed or forbade to the project. Calls with the same hash ran under the same policy. Who decided it, and when, is not part of it.
 */
export function createPolicyHash(deps: PolicyHashDeps): (call: Pick<VerifiedCall, 'tool' | 'request'>) => string {
  const { outside, network, approvalRules, config } = deps;
  const known = new Map<string, string>();
  return ({ tool: { manifest, sha256, program }, request: { projectRoot: project } }) => {
    const policy = {
      tool: {
        name: manifest.name,
        sha256,
        grants: manifest.grants,
        effects: manifest.effects,
        profile: program.profile,
      },
      sandbox: policyFor(baseView(project), config.sandbox),
      outside: outside.decidedFor(project),
      network: {
        isOn: network.isOn(project),
        rules: network.rulesFor(project).map(({ pattern, group, verdict, privateAddresses, anyPrivate, once }) => {
          return { pattern, group, verdict, privateAddresses, anyPrivate, once };
        }),
      },
      approvals: approvalRules
        .list()
        .filter(({ scope }) => scope === '' || scope === project)
        .map(({ tool, when }) => ({ tool, when })),
    };
    const text = JSON.stringify(policy);
    const hash = known.get(text) ?? createHash('sha256').update(JSON.stringify(policy, sortKeys)).digest('hex');
    if (known.size >= KNOWN_MAX) known.clear();
    known.set(text, hash);
    return hash;
  };
}

/** Policies whose hashes are kept: sorting one takes longer than the rest of the step. */
const KNOWN_MAX = 64;

/** For `JSON.stringify`: the order in which an object was built does not matter. */
function sortKeys(_key: string, value: Json): Json {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
