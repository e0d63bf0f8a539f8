import type { SessionRef } from '../../call/session.ts';
import { ContextdError } from '../../core/errors.ts';
import { isJsonObject, type JsonObject } from '../../core/json.ts';
import type { HostMethod, HostServices, ServiceAnswer, ServiceCall } from '../../runner/host-methods.ts';
import type { Scrubber } from '../../scrub/scrubber.ts';
import type { ArtifactStore } from '../../stores/artifacts.ts';
import { type Continuations, cursorOfNumber, isContinuationNumber } from '../../stores/continuations.ts';
import type { Cursors } from '../../stores/cursors.ts';
import { type BranchServiceDeps, openBranch, returnFromBranch } from '../branches/branch-services.ts';
import {
  type CheckpointServiceDeps,
  listCheckpoints,
  restoreCheckpoint,
  saveCheckpoint,
} from '../checkpoints/checkpoint-services.ts';
import { type JobServiceDeps, startJob, useJobs } from '../jobs/job-services.ts';
import {
  getMemories,
  type MemoryServiceDeps,
  rateMemory,
  searchMemories,
  storeMemory,
} from '../memory/memory-services.ts';
import { maskForKeeping, maskOwnWords } from '../shared/kept-text.ts';
import { initSession, type SessionInitDeps } from '../warm-start/session-init.ts';

export interface HostService {
  /**
   * Properties of the request that identify something, such as an artifact id. They reach the service as they are.
   * Every other key and string of the request is text and is scrubbed first, so that a service cannot store a secret.
   */
  identifiers: readonly string[];
  /**
   * What the text is. `kept`: it outlives the session, so a secret in it becomes `[SECRET:rule]`, which is no token. `own
   * words`: it is shown to the session again, whose tokens stay what they are. Default: text of anybody.
   */
  text?: 'kept' | 'own words';
  answer(session: SessionRef, request: JsonObject, call: ServiceCall): Promise<ServiceAnswer>;
}

export interface HostServiceDeps extends BranchServiceDeps, JobServiceDeps, MemoryServiceDeps, CheckpointServiceDeps {
  eventLog: SessionInitDeps['eventLog'];
  contexts: SessionInitDeps['contexts'];
  artifacts: Pick<ArtifactStore, 'info' | 'ofCall' | 'put'>;
  cursors: Pick<Cursors, 'open'>;
  continuations: Pick<Continuations, 'find'>;
  scrubber: Pick<Scrubber, 'scrub' | 'secrets' | 'issuedIn' | 'maskText'>;
}

/** What a tool may ask of the daemon, besides Exec, Scrub and Log. */
export function createHostServices(deps: HostServiceDeps): HostServices {
  return scrubbedServices(
    {
      ArtifactView: {
        identifiers: ['ref'],
        answer: (session, request) => viewArtifact(deps, session, request),
      },
      // A job gets what the caller wrote, as a command does. Nothing of it is stored but its masked record.
      JobStart: {
        identifiers: ['command', 'cwd', 'env', 'stdin', 'own_loopback', 'tty'],
        answer: (session, request, call) => startJob(session, request, call, deps),
      },
      Jobs: {
        identifiers: ['action', 'job', 'text', 'eof'],
        answer: (session, request, call) => useJobs(session, request, call, deps),
      },
      // Nothing of a search is stored.
      MemorySearch: {
        identifiers: ['query', 'limit', 'tags', 'outcome', 'scope', 'max_age_days'],
        answer: (session, request, call) => searchMemories(session, request, call, deps),
      },
      MemoryGet: {
        identifiers: ['ids'],
        answer: (session, request, call) => getMemories(session, request, call, deps),
      },
      MemoryStore: {
        identifiers: ['outcome', 'replaces'],
        text: 'kept',
        answer: (session, request, call) => storeMemory(session, request, call, deps),
      },
      MemoryFeedback: {
        identifiers: ['id', 'outcome'],
        text: 'kept',
        answer: (session, request, call) => rateMemory(session, request, call, deps),
      },
      BranchOpen: {
        identifiers: ['budget_tokens', 'timeout_ms', 'files'],
        text: 'kept',
        answer: (session, request, call) => openBranch(session, request, call, deps),
      },
      BranchReturn: {
        identifiers: ['extract_memory', 'files'],
        text: 'kept',
        answer: (session, request, call) => returnFromBranch(session, request, call, deps),
      },
      CheckpointSave: {
        identifiers: [],
        text: 'own words',
        answer: (session, request, call) => saveCheckpoint(session, request, call, deps),
      },
      CheckpointList: { identifiers: [], answer: (session) => listCheckpoints(session, deps) },
      CheckpointRestore: {
        identifiers: ['id', 'level', 'files'],
        answer: (session, request, call) => restoreCheckpoint(session, request, call, deps),
      },
      // What the tool saw in the workspace is shown, so it is text.
      SessionInit: {
        identifiers: ['task'],
        answer: (session, request, call) =>
          initSession(session, request, call, {
            ...deps,
            findMemories: found(deps),
            maskText: (text) => deps.scrubber.maskText(text),
          }),
      },
    },
    deps.scrubber,
  );
}

/** As `memory_search` finds them, with the same right of a session not to see some, and only those that have helped if they were distilled. */
function found(deps: MemoryServiceDeps): SessionInitDeps['findMemories'] {
  return async (session, task, call) => {
    const { answer } = await searchMemories(session, { query: task, limit: 3 }, { ...call, form: 'json' }, deps, {
      confirmedOnly: true,
    });
    const memories = Array.isArray(answer.memories) ? answer.memories.filter(isJsonObject) : [];
    return memories.map(({ id, title, outcome }) => ({
      id: String(id),
      title: String(title),
      outcome: String(outcome),
    }));
  };
}

/** Puts the scrubber in front of each service. Errors: SCRUB_FAILED, and then the service is not called. */
export function scrubbedServices(
  services: Readonly<Partial<Record<HostMethod, HostService>>>,
  scrubber: Pick<Scrubber, 'scrub' | 'secrets' | 'issuedIn'>,
): HostServices {
  const inFront = ({ identifiers, text, answer }: HostService) => {
    const mask = async (session: SessionRef, texts: JsonObject): Promise<JsonObject> => {
      if (text === 'kept') return maskForKeeping(session, texts, scrubber);
      if (text === 'own words') return maskOwnWords(session, texts, scrubber);
      return (await scrubber.scrub(session, texts)).value;
    };
    return async (session: SessionRef, request: JsonObject, call: ServiceCall): Promise<ServiceAnswer> => {
      const entries = Object.entries(request);
      const texts = entries.filter(([name]) => !identifiers.includes(name));
      const kept = entries.filter(([name]) => identifiers.includes(name));
      const scrubbed = texts.length === 0 ? {} : await mask(session, Object.fromEntries(texts));
      return answer(session, { ...scrubbed, ...Object.fromEntries(kept) }, call);
    };
  };
  return Object.fromEntries(Object.entries(services).map(([method, service]) => [method, inFront(service)]));
}

/**
 * `{"ref": "art_…"}` or `{"ref": "art_…/stderr"}`, or the number of a continuation, because an answer in text shows no ids: the
 * call then shows that stored output in its view. The answer holds the tool that made the output, and its size. Errors:
 * ARGS_INVALID, NOT_FOUND, CURSOR_INVALID, EXPIRED.
 */
async function viewArtifact(
  { artifacts, jobs, cursors, continuations }: HostServiceDeps,
  session: SessionRef,
  { ref: given }: JsonObject,
): Promise<ServiceAnswer> {
  if (typeof given !== 'string') throw new ContextdError('ARGS_INVALID', '/ref must be an art_ id or a number');
  const ref = isContinuationNumber(given)
    ? cursors.open(session, await cursorOfNumber(session, given, continuations)).artifactId
    : given;
  const [id = '', field] = ref.split('/');
  await jobs.refreshArtifact(session, id);
  const { tool, bytes, parts } = await artifacts.info(session, id);
  if (field !== undefined && !parts.some((part) => part.field === field)) {
    throw new ContextdError('NOT_FOUND', `${id} has no text ${field.slice(0, 40)}`, {
      remedy: `It has ${parts.map((part) => part.field).join(', ')}.`,
    });
  }
  return { answer: { tool, bytes }, shows: ref };
}
