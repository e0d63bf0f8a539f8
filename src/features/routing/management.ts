import type { RpcHandlers } from '../../protocol/management-contract.ts';
import { LEARNED_MOST, type ToolCatalogues } from './tool-catalogues.ts';

export interface RoutingManagementDeps {
  catalogues: Pick<ToolCatalogues, 'of' | 'choicesOf'>;
}

/** What `ctxd route` searches and explains, so that it finds what agents find. */
export function createRoutingManagement(deps: RoutingManagementDeps): Pick<RpcHandlers, 'readCatalogue'> {
  return {
    async readCatalogue({ root }) {
      const { items } = await deps.catalogues.of(root);
      const choices = await deps.catalogues.choicesOf(root);
      return {
        items_json: items.map((item) => JSON.stringify(item)),
        choices: choices.map(({ id, words }) => ({ tool_id: id, words: [...words] })),
        learned_most: LEARNED_MOST,
      };
    },
  };
}
