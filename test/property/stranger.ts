import type { Simulator } from '../../src/simulator/index.ts';

/** Cancels all batches, as somebody would at the providers' own consoles. */
export async function cancelEverything(simulator: Simulator): Promise<void> {
  for (const { id, phase, provider } of simulator.batches()) {
    if (phase === 'ended') continue;
    const isOpenAI = provider === 'openai';
    const path = isOpenAI ? `/batches/${id}/cancel` : `/v1/messages/batches/${id}/cancel`;
    const headers: Record<string, string> = isOpenAI
      ? { authorization: 'Bearer sk-test-key' }
      : { 'x-api-key': 'sk-ant-test-key', 'anthropic-version': '2023-06-01' };
    const response = await fetch(`${simulator.baseUrl(provider)}${path}`, {
      method: 'POST',
      headers,
    });
    await response.arrayBuffer();
  }
}
