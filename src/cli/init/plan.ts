import { basename, dirname } from 'node:path';
import { ContextdError } from '../../core/errors.ts';
import { isBelow } from '../../core/paths.ts';
import { describeFound, type Found, type OwnedDirectory } from '../files/owned-directory.ts';
import type { Action } from './action.ts';
import { RULES_FILE } from './client-settings.ts';
import { clientMerges, recordedClients } from './clients/other-clients.ts';
import { contentHash, hasMark, isMarked } from './content-hash.ts';
import { foreignPrograms, moveCommand } from './foreign-programs.ts';
import { EXCLUDE_FILE, excludedLines, mayExclude, NOT_EXCLUDED } from './git-exclude.ts';
import { type Layout, linkPaths, SKILL_FILE, TOOLS_DIR, toolDir, toolFilePaths } from './layout.ts';
import { emptyManifest, type Manifest } from './manifest.ts';
import { type MergeRecord, unmerge } from './merged-file.ts';
import { isOurTool, markedFolders, namedTools } from './named-tools.ts';
import { type PassedOver, planMerge, planMerges, withoutPassed } from './plan-merges.ts';
import { planUnmerge } from './plan-unmerge.ts';
import { inspectOrRefuse, type Refusal, type Survey } from './survey.ts';

export interface Plan {
  actions: readonly Action[];
  /** What will be ours after the actions. */
  manifest: Manifest;
  /** Paths that an earlier init created and that stay, because they were changed since. */
  kept: readonly string[];
  /** Clients that are not set up, because a file of theirs cannot be read. */
  passed: readonly PassedOver[];
}

/**
 * Plans every change of `ctxd init` before anything is changed. `isSeenByGit`: the files are not excluded from git. Throws
 * CONFLICT with every obstacle.
 */
export function planInit(
  root: OwnedDirectory,
  given: Layout,
  recorded: Manifest | undefined,
  isSeenByGit: boolean,
): Plan {
  const survey = beginSurvey(root, recorded);
  const { merges, actions: merging, passed } = planMerges(survey, given, absentTools(root, given.tools, survey.before));
  const layout = withoutPassed(given, passed, survey.before);
  const directories: string[] = [];
  for (const path of layout.directories) if (planDirectory(survey, path)) directories.push(path);
  for (const [path, text] of layout.files) planFile(survey, path, text);
  if (!layout.files.has(RULES_FILE)) planWithoutRules(survey);
  for (const [path, target] of layout.links) planLink(survey, path, target);
  survey.actions.push(...merging);
  planLeftClients(survey, merges);
  const excluded = planExclude(survey, [...layout.files.keys(), ...createdIn(merges)], isSeenByGit);
  if (excluded !== undefined) merges[EXCLUDE_FILE] = excluded;
  refuseForeignPrograms(survey, layout);
  refuse(survey.refusals);
  const kept = [...survey.kept, ...planStale(survey, layout)];
  const files = Object.fromEntries([...layout.files].map(([path, text]) => [path, contentHash(text)]));
  const manifest = { ...emptyManifest(root.path), directories, files, links: Object.fromEntries(layout.links), merges };
  return { actions: survey.actions, manifest, kept, passed };
}

/** Takes out what an earlier init added for clients that are not set up any more. */
function planLeftClients(survey: Survey, merges: Readonly<Record<string, MergeRecord>>): void {
  const { root, before } = survey;
  for (const name of recordedClients(before.merges))
    for (const [path, addition] of clientMerges(name, root.path, '')) {
      const record = merges[path] === undefined ? before.merges[path] : undefined;
      const action = record && planUnmerge(root, path, addition, record);
      if (action === 'kept') survey.kept.push(path);
      else if (action !== undefined) add(survey, action);
    }
}

/** Where contextd is the shell, rules that a clone brought would send agents to other commands. */
function planWithoutRules(survey: Survey): void {
  const found = survey.before.files[RULES_FILE] === undefined ? inspectOrRefuse(survey, RULES_FILE) : undefined;
  if (found?.kind !== 'file' || !isMarked(found.text)) return;
  add(survey, { kind: 'remove', path: RULES_FILE });
  add(survey, { kind: 'remove_directory', path: dirname(RULES_FILE) });
}

/** Agents would run such a program, some in place of a program of the same name elsewhere. */
function refuseForeignPrograms(survey: Survey, layout: Layout): void {
  if (survey.refusals.length > 0) return;
  const { links, files, tools, proxyBinary } = layout;
  const [own, ours] = [new Map([...Object.entries(survey.before.links), ...links]), new Set(files.keys())];
  const programs = foreignPrograms(survey.root, { links: own, files: ours, proxyBinary }).filter(
    (path) => !links.has(path),
  );
  if (programs.length === 0) return;
  const remedy = `Look at what it does. Then delete it, or move it away: ${moveCommand(survey.root.path, programs, tools)}`;
  for (const path of programs.slice(0, PROGRAMS_SHOWN))
    survey.refusals.push({ path, reason: 'a program that contextd did not create, and agents could run it', remedy });
  const more = programs.length - PROGRAMS_SHOWN;
  if (more > 0) survey.refusals.push({ path: TOOLS_DIR, reason: `the place of ${more} more programs`, remedy });
}

const PROGRAMS_SHOWN = 5;

/** Throws one CONFLICT that names every obstacle. */
function refuse(refusals: readonly Refusal[]): void {
  const [first] = refusals;
  if (first === undefined) return;
  const remedies = [...new Set(refusals.map((one) => one.remedy))];
  throw new ContextdError('CONFLICT', refusals.map((one) => `${one.path} is ${one.reason}`).join('; '), {
    remedy: `${remedies.join(' ')} Nothing was changed.`,
    details: { paths: refusals.map((one) => one.path) },
  });
}

function beginSurvey(root: OwnedDirectory, recorded: Manifest | undefined): Survey {
  const survey: Survey = {
    root,
    before: recorded ?? emptyManifest(root.path),
    adopting: false,
    marked: markedFolders(root),
    actions: [],
    refusals: [],
    kept: [],
  };
  const found = recorded === undefined ? [RULES_FILE, SKILL_FILE].map((path) => inspectOrRefuse(survey, path)) : [];
  survey.adopting = found.some((one) => one?.kind === 'file' && hasMark(one.text));
  return survey;
}

/** Returns true if a later uninstall may remove the directory. */
function planDirectory(survey: Survey, path: string): boolean {
  const found = inspectOrRefuse(survey, path);
  if (found === undefined) return false;
  if (found.kind === 'directory') {
    const isMarkedFolder = survey.marked.some((name) => toolDir(name) === path);
    return survey.adopting || isMarkedFolder || survey.before.directories.includes(path);
  }
  if (found.kind === 'missing') survey.actions.push({ kind: 'make_directory', path });
  else
    survey.refusals.push({
      path,
      reason: describeFound(found),
      remedy: 'Replace it by a directory, then run this again.',
    });
  return true;
}

function planFile(survey: Survey, path: string, text: string): void {
  const found = inspectOrRefuse(survey, path);
  if (found === undefined || (found.kind === 'file' && found.text === text)) return;
  if (found.kind === 'missing') add(survey, { kind: 'write', path, text, replaces: false, mode: 0o644 });
  else if (found.kind === 'file' && isOurFile(survey, path, found.text))
    add(survey, { kind: 'write', path, text, replaces: true, mode: found.mode });
  else if (found.kind === 'file' && (survey.before.files[path] !== undefined || hasMark(found.text)))
    survey.kept.push(path);
  else survey.refusals.push(foreign(path, found));
}

function planLink(survey: Survey, path: string, target: string): void {
  const found = inspectOrRefuse(survey, path);
  if (found === undefined || (found.kind === 'link' && found.target === target)) return;
  if (found.kind === 'missing') add(survey, { kind: 'link', path, target, replaces: false });
  else if (found.kind === 'link' && isOurLink(survey.before, path, found.target, target))
    add(survey, { kind: 'link', path, target, replaces: true });
  else survey.refusals.push(foreign(path, found));
}

/** The files of the user that did not exist before. */
function createdIn(merges: Readonly<Record<string, MergeRecord>>): string[] {
  return Object.entries(merges).flatMap(([path, { created }]) => (created ? [path] : []));
}

/** Returns the record of the block; undefined if it is not there and may be added later. */
function planExclude(survey: Survey, files: readonly string[], isSeenByGit: boolean): MergeRecord | undefined {
  if (survey.refusals.length > 0) return undefined;
  const before = survey.before.merges[EXCLUDE_FILE];
  const lines = excludedLines(files);
  if (!isSeenByGit) return mayExclude(survey.root, before, files) ? addLines(survey, lines) : before;
  const found = before === undefined ? undefined : survey.root.inspect(EXCLUDE_FILE);
  if (before !== undefined && found?.kind === 'file') {
    const text = unmerge(found.text, { kind: 'block', lines }, before) ?? '';
    if (text !== found.text) add(survey, { kind: 'write', path: EXCLUDE_FILE, text, replaces: true, mode: found.mode });
  }
  return NOT_EXCLUDED;
}

function addLines(survey: Survey, lines: readonly string[]): MergeRecord | undefined {
  const { record, action, fault } = planMerge(survey, EXCLUDE_FILE, { kind: 'block', lines });
  if (fault !== undefined) {
    const remedy = 'Put a readable text file there, or run: ctxd init --no-exclude';
    survey.refusals.push({ path: EXCLUDE_FILE, reason: fault, remedy });
  }
  if (action !== undefined) add(survey, action);
  return record;
}

/**
 * Removes what an earlier version created and this one does not. Returns the paths that stay because they were changed.
 */
function planStale(survey: Survey, layout: Layout): string[] {
  const { before } = survey;
  const files = Object.fromEntries(Object.entries(before.files).filter(([path]) => !layout.files.has(path)));
  const links = Object.fromEntries(Object.entries(before.links).filter(([path]) => !layout.links.has(path)));
  const directories = before.directories.filter((path) => !layout.directories.includes(path));
  const { actions, kept } = planRemoval(survey.root, { ...before, files, links, directories });
  survey.actions.push(...actions);
  return kept;
}

/** Plans the removal of recorded files, links and directories that nobody has changed. */
export function planRemoval(
  root: OwnedDirectory,
  made: Pick<Manifest, 'files' | 'links' | 'directories'>,
): { actions: Action[]; kept: string[] } {
  const actions: Action[] = [];
  const kept: string[] = [];
  for (const [path, sha256] of Object.entries(made.files)) {
    const found = root.inspect(path);
    if (found.kind === 'missing') continue;
    if (found.kind === 'file' && contentHash(found.text) === sha256) actions.push({ kind: 'remove', path });
    else kept.push(path);
  }
  for (const [path, target] of Object.entries(made.links)) {
    const found = root.inspect(path);
    if (found.kind === 'missing') continue;
    if (found.kind === 'link' && found.target === target) actions.push({ kind: 'remove', path });
    else kept.push(path);
  }
  for (const path of made.directories.toReversed()) {
    if (root.inspect(path).kind === 'directory') actions.push({ kind: 'remove_directory', path });
  }
  return { actions, kept };
}

/** The tools that the project's files name, and that neither this machine has nor an earlier init here created. */
export function absentTools(root: OwnedDirectory, here: readonly string[], before: Manifest): string[] {
  const named = namedTools(root);
  return named.filter((name) => !here.includes(name) && !isRecorded(before, name));
}

/** Plans the removal of the folders of tools that contextd wrote on another machine and that nobody has changed. */
export function planForeignFolders(root: OwnedDirectory, before: Manifest): { actions: Action[]; kept: string[] } {
  const proxies = new Set(Object.values(before.links).map((target) => basename(target)));
  const actions: Action[] = [];
  const kept: string[] = [];
  for (const name of markedFolders(root).filter((one) => !isRecorded(before, one))) {
    const files = Object.values(toolFilePaths(name));
    if (isOurTool(root, name)) actions.push(...files.map((path): Action => ({ kind: 'remove', path })));
    else kept.push(toolFilePaths(name).extended);
    for (const path of linkPaths(name)) {
      const found = root.inspect(path);
      if (found.kind === 'link' && proxies.has(basename(found.target))) actions.push({ kind: 'remove', path });
    }
    actions.push({ kind: 'remove_directory', path: toolDir(name) });
  }
  return { actions, kept };
}

export function isRecorded(before: Manifest, name: string): boolean {
  return linkPaths(name).some((path) => before.links[path] !== undefined);
}

/** Returns true if the content is recorded, or has the mark of a version of contextd. */
function isOurFile(survey: Survey, path: string, text: string): boolean {
  if (survey.before.files[path] === contentHash(text) || isMarked(text)) return true;
  const tool = isBelow(TOOLS_DIR, path) ? path.split('/')[2] : undefined;
  return tool !== undefined && isOurTool(survey.root, tool);
}

/** Returns true if a link was recorded at this path, or if it leads to the proxy of another installation. */
function isOurLink(before: Manifest, path: string, present: string, wanted: string): boolean {
  return before.links[path] !== undefined || basename(present) === basename(wanted);
}

function foreign(path: string, found: Found): Refusal {
  const reason = `not from ctxd init (${describeFound(found)})`;
  return { path, reason, remedy: `Move it away or delete it (such as: mv ${path} ${path}.old), then run this again.` };
}

function add(survey: Survey, action: Action): void {
  survey.actions.push(action);
}
