import { createHash, randomBytes } from 'node:crypto';
import type { HttpStanding } from '../../call/http-standing.ts';
import type { Clock } from '../../core/clock.ts';
import { ContextdError } from '../../core/errors.ts';
import { PERMISSIONS } from '../../core/permissions.ts';
import type {
  HttpToken__Output as HttpToken,
  HttpTokenList__Output as HttpTokenList,
} from '../../protocol/generated/management.ts';
import { proofOf, TOKEN_PREFIX, tokenId } from '../../protocol/http-proof.ts';
import type { RpcHandlers } from '../../protocol/management-contract.ts';
import type { HttpTokens, StoredToken } from '../../stores/http-tokens.ts';
import type { DaemonKeys } from '../../stores/keys.ts';

export interface HttpManagementDeps {
  httpTokens: HttpTokens;
  keys: Pick<DaemonKeys, 'derive'>;
  clock: Pick<Clock, 'now'>;
  httpStanding(): HttpStanding;
}

type HttpManagement = Pick<RpcHandlers, 'httpStatus' | 'makeHttpToken' | 'listHttpTokens' | 'revokeHttpToken'>;

const TOKEN_BYTES = 32;

/** What a person asks about the HTTP door, and its tokens. */
export function createHttpManagement(deps: HttpManagementDeps): HttpManagement {
  const { httpTokens, keys, clock } = deps;
  const list = (): HttpTokenList => ({ tokens: httpTokens.list().map(itemOf) });
  return {
    async httpStatus({ nonce }) {
      const { enabled, at, why, certificateSha256 } = deps.httpStanding();
      const proof = at === null || nonce === '' ? '' : proofOf(keys.derive('http'), at.host, nonce);
      return {
        enabled,
        url: at?.url ?? '',
        ...(at !== null ? { why: '', remedy: '' } : whyNot(enabled, why)),
        certificate_sha256: certificateSha256,
        proof,
      };
    },
    async makeHttpToken({ name, root, permissions, expires_ms, replace }) {
      if (!replace && httpTokens.list().some((one) => one.name === name)) throw alreadyMade(name);
      if (expires_ms !== 0 && expires_ms <= clock.now()) {
        throw new ContextdError('ARGS_INVALID', 'the token would have expired already', {
          remedy: 'Let it expire later.',
        });
      }
      const token = `${TOKEN_PREFIX}${randomBytes(TOKEN_BYTES).toString('base64url')}`;
      const made = await httpTokens.put({
        name,
        sha256: createHash('sha256').update(token).digest('hex'),
        scope: root,
        permissions: PERMISSIONS.filter((one) => permissions.includes(one)),
        expiresMs: expires_ms === 0 ? null : expires_ms,
      });
      return { made: itemOf(made), token, proof_key: keys.derive('http', tokenId(token)).toString('hex') };
    },
    listHttpTokens: async () => list(),
    async revokeHttpToken({ name }) {
      if (!httpTokens.list().some((one) => one.name === name)) {
        throw new ContextdError('NOT_FOUND', `there is no token ${JSON.stringify(name)}`, {
          remedy: 'See `ctxd http tokens`.',
        });
      }
      await httpTokens.remove(name);
      return list();
    },
  };
}

function whyNot(enabled: boolean, why: ContextdError | null): { why: string; remedy: string } {
  if (!enabled) return { why: 'the HTTP API is off', remedy: 'Turn it on with `ctxd http on`.' };
  return { why: why?.message ?? 'the daemon is stopping', remedy: why?.remedy ?? 'See `ctxd server logs`.' };
}

function alreadyMade(name: string): ContextdError {
  return new ContextdError('CONFLICT', `there is a token ${JSON.stringify(name)} already`, {
    remedy: 'Choose another name with --name, or replace it with --rotate.',
  });
}

function itemOf({ name, sha256, scope, permissions, madeMs, expiresMs }: StoredToken): HttpToken {
  return {
    name,
    root: scope,
    permissions: [...permissions],
    made_ms: madeMs,
    expires_ms: expiresMs ?? 0,
    id: sha256.slice(0, 16),
  };
}
