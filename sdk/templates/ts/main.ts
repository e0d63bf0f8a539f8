import { serveTool } from '@contextd/sdk';
import { tool } from './tool.ts';

serveTool(tool);
