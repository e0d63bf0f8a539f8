import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import type {
  AllowedValue__Output as AllowedValue,
  SecretRequest__Output as SecretRequest,
  SecretSummary__Output as SecretSummary,
} from '../../protocol/generated/management.ts';
import type { RpcHandlers } from '../../protocol/management-contract.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import { hashForms } from '../../scrub/vault/allowance.ts';
import type { AllowedValues, StoredValue } from '../../stores/allowed-values.ts';
import type { DaemonKeys } from '../../stores/keys.ts';
import type { LiveSessions } from '../../stores/live-sessions.ts';
import type { ProjectStore } from '../../stores/projects.ts';
import { requireProject } from '../projects/require-project.ts';

export interface SecretManagementDeps {
  scrubber: Pick<Scrubber, 'secrets' | 'reveal' | 'tokensIn' | 'maskText'>;
  allowedValues: AllowedValues;
  keys: Pick<DaemonKeys, 'derive'>;
  liveSessions: Pick<LiveSessions, 'idFor' | 'list'>;
  projects: ProjectStore;
}

type SecretManagement = Pick<
  RpcHandlers,
  'sessionSecrets' | 'revealSecret' | 'allowValue' | 'disallowValue' | 'listAllowedValues'
>;

/** What a person may know and decide about secrets. Nothing else reaches these methods: they take the certificate of ctxd. */
export function createSecretManagement(deps: SecretManagementDeps): SecretManagement {
  const { scrubber, allowedValues, projects } = deps;
  const sessionOf = ({ root, session }: { root: string; session: string }): SessionRef => ({
    project: root,
    session: deps.liveSessions.idFor(root, session),
    branch: null,
  });
  /** The session whose token is meant: the one that was named, otherwise the only one that has this token. */
  const sessionWith = (request: SecretRequest): SessionRef => {
    if (request.session !== '') return sessionOf(request);
    const holders = deps.liveSessions
      .list(request.root)
      .filter((session) => scrubber.tokensIn(session, request.token).length > 0);
    const [only, ...others] = holders;
    if (others.length > 0) throw inSeveral(request.token, holders);
    return only ?? sessionOf(request);
  };
  const answer = (root: string, changed: readonly StoredValue[] = [], session = '') => ({
    values: allowedValues.list(root).map(infoOf),
    changed: changed.map(infoOf),
    session,
  });
  return {
    async sessionSecrets(request) {
      const session = sessionOf(request);
      return {
        root: request.root,
        session: session.session,
        secrets: scrubber.secrets(session).map(secretSummary),
      };
    },
    async revealSecret(request, record) {
      const session = sessionWith(request);
      const { summary, value, call } = revealed(session, request, scrubber);
      record.note({ session: session.session, input: { rule: summary.rule } });
      return {
        summary: secretSummary(summary),
        session: session.session,
        request_id: call?.requestId ?? '',
        input: call?.input ?? '',
        value,
      };
    },
    async allowValue({ secret, value, everywhere, by }, record) {
      const request = required(secret);
      const { root, token } = request;
      await requireProject(root, projects);
      const session = value === '' ? sessionWith(request) : sessionOf(request);
      const known = value === '' ? revealed(session, request, scrubber) : null;
      const [id, ...forms] = hashForms(deps.keys.derive('allowed'), known?.value ?? value);
      const scope = everywhere ? '' : root;
      const rule = known?.summary.rule ?? '';
      record.note({ session: session.session, input: { id, ...(known === null ? {} : { token, rule }) } });
      const stored = await allowedValues.add({ scope, id, forms: [id, ...forms], rule, givenBy: by });
      return answer(root, [stored], known === null ? '' : session.session);
    },
    async disallowValue({ root, id }, record) {
      const found = allowedValues.list(root).filter((value) => value.id.startsWith(id));
      const [value] = found;
      if (value === undefined) throw notAllowed(id);
      if (new Set(found.map((one) => one.id)).size > 1) throw ambiguous(id);
      record.note({ input: { id: value.id } });
      for (const one of found) await allowedValues.remove(one);
      return answer(root, found);
    },
    listAllowedValues: async ({ root }) => answer(root),
  };
}

/** As `reveal`, in words for a person, who may not have named a session. */
function revealed(session: SessionRef, { session: named, token }: SecretRequest, scrubber: Pick<Scrubber, 'reveal'>) {
  try {
    return scrubber.reveal(session, token);
  } catch (cause) {
    if (!(cause instanceof ContextdError) || cause.code !== 'SECRET_UNKNOWN') throw cause;
    const message = named === '' ? `no session of this project has ${token}` : `the session ${named} has no ${token}`;
    throw new ContextdError('SECRET_UNKNOWN', message, {
      remedy:
        '`ctxd session secrets` lists the secrets of a session. After a stop or a crash of the daemon, a secret is known again once an agent reads its source again.',
      cause,
    });
  }
}

function required(secret: SecretRequest | null): SecretRequest {
  if (secret !== null) return secret;
  throw new ContextdError('ARGS_INVALID', 'the request has no project', { remedy: 'Send one.' });
}

function infoOf({ id, scope, rule, givenMs, givenBy }: StoredValue): AllowedValue {
  return { id, root: scope, rule, allowed_ms: givenMs, by: givenBy };
}

function secretSummary(secret: ReturnType<Scrubber['secrets']>[number]): SecretSummary {
  return {
    token: secret.token,
    rule: secret.rule,
    kind: secret.kind,
    tool: secret.tool ?? '',
    first_seen_ms: secret.firstSeenAt,
    uses: secret.uses,
    opened: secret.opened,
    last_opened_ms: secret.lastOpenedAt ?? 0,
  };
}

const MAX_NAMED = 10;

function inSeveral(token: string, sessions: readonly SessionRef[]): ContextdError {
  const ids = sessions.slice(0, MAX_NAMED).map(({ session }) => session);
  return new ContextdError(
    'CONFLICT',
    `${sessions.length} sessions of this project have a ${token}: ${ids.join(', ')}`,
    {
      remedy: `Name one, such as \`--session ${ids[0]}\`. \`ctxd session secrets --session ID\` shows what each has.`,
    },
  );
}

function notAllowed(id: string): ContextdError {
  return new ContextdError('NOT_FOUND', `no allowed value has the id ${id}`, {
    remedy: 'See `ctxd scrub allow list`.',
  });
}

function ambiguous(id: string): ContextdError {
  return new ContextdError('CONFLICT', `several allowed values have ids that begin with ${id}`, {
    remedy: 'Name more of the id.',
  });
}
