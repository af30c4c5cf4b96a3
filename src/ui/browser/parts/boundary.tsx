import type { ComponentChildren } from 'preact';
import { useErrorBoundary } from 'preact/hooks';

interface Given {
  readonly children: ComponentChildren;
  /** What a reader can look at instead. */
  readonly otherwise: ComponentChildren;
}

/** Something that cannot be shown does not take the rest of the page with it. */
export function Boundary({ children, otherwise }: Given) {
  const [error] = useErrorBoundary();
  if (error === undefined) return <>{children}</>;
  return (
    <div class="trouble" role="alert">
      <p>This could not be shown: {error instanceof Error ? error.message : String(error)}</p>
      {otherwise}
    </div>
  );
}
