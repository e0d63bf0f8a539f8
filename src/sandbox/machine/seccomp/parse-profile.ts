import { isJsonObject, type JsonObject } from '../../../core/json.ts';
import {
  OCI_ACTIONS,
  OCI_OPS,
  type OciAction,
  type OciArg,
  type OciOp,
  type OciProfile,
  type OciRule,
  type OciWhere,
  profileFault,
} from './profile.ts';

/**
 * A profile from parsed JSON. Ignores unknown keys, as other readers of the format do, except those that decide: an
 * unknown action or operator, and actions that need a listener or a tracer (NOTIFY, TRACE), are SCHEMA_INVALID with the
 * rule's place.
 */
export function parseProfile(json: unknown): OciProfile {
  const profile = objectAt(json, 'the profile');
  const errno = optional(profile.defaultErrnoRet, numberAt, 'defaultErrnoRet');
  const architectures = optional(profile.architectures, stringsAt, 'architectures');
  return {
    defaultAction: actionAt(profile.defaultAction, 'defaultAction'),
    ...(errno === undefined ? {} : { defaultErrnoRet: errno }),
    ...(architectures === undefined ? {} : { architectures }),
    syscalls: listAt(profile.syscalls ?? [], 'syscalls').map(parseRule),
  };
}

function parseRule(json: unknown, index: number): OciRule {
  const where = `syscalls[${index}]`;
  const rule = objectAt(json, where);
  const errno = optional(rule.errnoRet, numberAt, `${where}.errnoRet`);
  const includes = optional(rule.includes, parseWhere, `${where}.includes`);
  const excludes = optional(rule.excludes, parseWhere, `${where}.excludes`);
  return {
    names: stringsAt(rule.names, `${where}.names`),
    action: actionAt(rule.action, `${where}.action`),
    ...(errno === undefined ? {} : { errnoRet: errno }),
    args: listAt(rule.args ?? [], `${where}.args`).map((arg, at) => parseArg(arg, `${where}.args[${at}]`)),
    ...(includes === undefined ? {} : { includes }),
    ...(excludes === undefined ? {} : { excludes }),
  };
}

function parseArg(json: unknown, where: string): OciArg {
  const arg = objectAt(json, where);
  return {
    index: numberAt(arg.index, `${where}.index`),
    value: numberAt(arg.value, `${where}.value`),
    valueTwo: numberAt(arg.valueTwo ?? 0, `${where}.valueTwo`),
    op: opAt(arg.op, `${where}.op`),
  };
}

function parseWhere(json: unknown, where: string): OciWhere {
  const { caps, arches, minKernel } = objectAt(json, where);
  if (minKernel !== undefined && !(typeof minKernel === 'string' && /^\d+\.\d+$/.test(minKernel)))
    throw profileFault(`${where}.minKernel`, `${JSON.stringify(minKernel)} is not a version`, 'Write it as "5.8".');
  return {
    caps: stringsAt(caps ?? [], `${where}.caps`),
    arches: stringsAt(arches ?? [], `${where}.arches`),
    ...(minKernel === undefined ? {} : { minKernel }),
  };
}

function actionAt(value: unknown, where: string): OciAction {
  const action = OCI_ACTIONS.find((known) => known === value);
  if (action !== undefined) return action;
  throw profileFault(
    where,
    `${JSON.stringify(value)} is not a supported action`,
    `Use one of ${OCI_ACTIONS.join(', ')}.`,
  );
}

function opAt(value: unknown, where: string): OciOp {
  const op = OCI_OPS.find((known) => known === value);
  if (op !== undefined) return op;
  throw profileFault(where, `${JSON.stringify(value)} is not an operator`, `Use one of ${OCI_OPS.join(', ')}.`);
}

function objectAt(value: unknown, where: string): JsonObject {
  if (isJsonObject(value)) return value;
  throw profileFault(where, 'is not an object', 'Compare it with the OCI runtime specification, "seccomp".');
}

function listAt(value: unknown, where: string): readonly unknown[] {
  if (Array.isArray(value)) return value;
  throw profileFault(where, 'is not a list', 'Write it as a JSON array.');
}

function stringsAt(value: unknown, where: string): readonly string[] {
  const list = listAt(value, where);
  if (list.every((item) => typeof item === 'string')) return list;
  throw profileFault(where, 'holds something that is not text', 'Write a JSON array of strings.');
}

function numberAt(value: unknown, where: string): number {
  if (typeof value === 'number') return value;
  throw profileFault(where, `${JSON.stringify(value)} is not a number`, 'Write a JSON number.');
}

function optional<T>(value: unknown, parse: (value: unknown, where: string) => T, where: string): T | undefined {
  return value === undefined || value === null ? undefined : parse(value, where);
}
