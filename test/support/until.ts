/** Far more than a loaded machine needs: it only bounds a test that would fail anyway. */
const patience = 60_000;

/** Looks every few milliseconds until the condition holds. */
export async function until(condition: () => boolean, what = 'the condition'): Promise<void> {
  const deadline = performance.now() + patience;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`Waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** The promise, or an error when it does not settle soon: a test must fail, not hang. */
export async function soon<T>(promise: Promise<T>, milliseconds = patience): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const tooLate = () => reject(new Error(`Nothing happened for ${milliseconds} ms`));
    timer = setTimeout(tooLate, milliseconds);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
