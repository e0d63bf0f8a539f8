import { ALNUM, HEX, type RuleSamples, URL64 } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'openai-key': {
    match: [`«sk-proj-${URL64}{60}»`, `«sk-svcacct-${URL64}{40}»`],
    clean: ['sk-proj-name', 'sk-admin-key'],
  },
  'openai-legacy-key': {
    match: [`key «sk-${ALNUM}{48}»`, `\x1b\\[1m«sk-${ALNUM}{48}»`],
    clean: [`task-${HEX}{32}`, 'sk-loading-spinner-container-element-wide'],
  },
  'anthropic-key': {
    match: [`«sk-ant-api03-${URL64}{93}AA»`, `«sk-ant-oat01-${URL64}{60}»`],
    clean: ['sk-ant-api03-...'],
  },
  'hugging-face-token': {
    match: [`«hf_${ALNUM}{34}»`],
    clean: ['hf_hub_download', 'hf_model_name_or_path_of_the_user'],
  },
  'groq-key': { match: [`«gsk_${ALNUM}{52}»`], clean: ['gsk_container'] },
  'xai-key': { match: [`«xai-${ALNUM}{80}»`], clean: ['xai-sdk'] },
  'perplexity-key': { match: [`«pplx-${ALNUM}{48}»`], clean: ['pplx-70b-online'] },
  'replicate-token': { match: [`«r8_${ALNUM}{37}»`], clean: ['r8_unorm'] },
};
