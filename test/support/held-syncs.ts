import { type FileHandle, open } from 'node:fs/promises';

/** Every sync of a file in this process waits here until it is let go. */
export interface HeldSyncs {
  /** Syncs that wait. */
  readonly held: number;
  /** Lets those who wait reach the disk, and resolves when they have. */
  letGo(): Promise<void>;
  /** Holds nothing any more. */
  stop(): Promise<void>;
}

/** A killed process keeps what the kernel has: only the order of calls proves that a mark was synced. */
export async function holdSyncs(): Promise<HeldSyncs> {
  const file = await open('/dev/null');
  const handles = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const { sync, datasync } = handles;
  const waiting: (() => Promise<void>)[] = [];
  const holding = (original: () => Promise<void>) =>
    function held(this: FileHandle): Promise<void> {
      return new Promise((resolve, reject) => {
        waiting.push(() => original.call(this).then(resolve, reject));
      });
    };
  handles.sync = holding(sync);
  handles.datasync = holding(datasync);
  const letGo = async () => {
    await Promise.all(waiting.splice(0).map((go) => go()));
  };
  return {
    get held() {
      return waiting.length;
    },
    letGo,
    stop() {
      handles.sync = sync;
      handles.datasync = datasync;
      return letGo();
    },
  };
}
