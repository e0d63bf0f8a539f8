import type { Explanation } from '../../gateway/router/router.ts';

/** Why a tool has its score, as `--json` prints it. */
export interface Why extends Omit<Explanation, 'item'> {
  id: string;
}

export function whyOf(explanation: Explanation | undefined): Why[] {
  if (explanation === undefined) return [];
  const { item, ...rest } = explanation;
  return [{ id: item.id, ...rest }];
}

export function reasonLine({ word, found, fields, share }: Explanation['words'][number]): string {
  const match = found === '' ? `${word}: executed after it` : word === found ? word : `${word} as ${found}`;
  const where = fields.length === 0 ? '' : ` in ${fields.join(', ')}`;
  return `    ${Math.round(share * 100)} % ${match}${where}`;
}
