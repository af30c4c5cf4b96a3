// The provider, in a process of its own, so that its cost is nobody's. Ends with its parent's pipe.
import { startSimulator } from '../dist/simulator/index.js';

const simulator = await startSimulator({
  meterBodies: false,
  speed: { validating: 5, running: 20, finalizing: 5 },
  limits: { openai: { enqueuedTokens: Number.MAX_SAFE_INTEGER } },
});
process.stdout.write(`${simulator.baseUrl('openai')}\n`);
process.stdin.resume().once('end', () => simulator.close());
