/** Runs `work`. If it fails, what was opened before it is closed. */
export async function closedOnError<T>(
  close: () => Promise<void>,
  work: () => T | Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    await close();
    throw error;
  }
}
