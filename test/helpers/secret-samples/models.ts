import { ALNUM, HEX, type RuleSamples, URL64, UUID } from '../sample-patterns.ts';

export const samples: Readonly<Record<string, RuleSamples>> = {
  'openrouter-key': { match: [`«sk-or-v1-${HEX}{64}»`], clean: ['sk-or-v1-key'] },
  'elevenlabs-key': { match: [`key «sk_${HEX}{48}»`], clean: [`sk_${HEX}{20}`, `task_${HEX}{48}`] },
  'langsmith-key': { match: [`«lsv2_pt_${HEX}{32}_${HEX}{10}»`], clean: ['lsv2_pt_key'] },
  'nvidia-key': { match: [`«nvapi-${URL64}{64}»`], clean: ['nvapi-client'] },
  'fireworks-key': { match: [`«fw_[0-9]{2}${ALNUM}{20}»`], clean: ['fw_update', 'fw_version_of_the_firmware'] },
  'cerebras-key': { match: ['«csk-[a-z0-9]{48}»'], clean: ['csk-key'] },
  'voyage-key': { match: [`key «pa-[0-9]{2}${ALNUM}{41}»`], clean: ['pa-system', `spa-${ALNUM}{40}`] },
  'pinecone-key': { match: [`«pcsk_${ALNUM}{6}_${ALNUM}{60}»`], clean: ['pcsk_key_x'] },
  'jina-key': { match: [`«jina_${HEX}{32}${ALNUM}{28}»`], clean: ['jina_embeddings_v2'] },
  'tavily-key': { match: [`«tvly-[0-9]{2}${ALNUM}{30}»`, `«tvly-dev-${ALNUM}{32}»`], clean: ['tvly-key'] },
  'langfuse-key': { match: [`«sk-lf-${UUID}»`], clean: ['sk-lf-x', `pk-lf-${UUID}`] },
  'e2b-key': { match: [`«e2b_${HEX}{40}»`], clean: [`e2b_${HEX}{10}`] },
  'apify-token': { match: [`«apify_api_${ALNUM}{36}»`], clean: ['apify_api_token'] },
  'clarifai-key': { match: [`CLARIFAI_PAT=«${HEX}{32}»`], clean: ['clarifai: model'] },
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
  'replicate-token': { match: [`«r8_${ALNUM}{37}»`], clean: ['r8_unorm'] },
};
