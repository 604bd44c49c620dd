import { useLayoutEffect, useState } from 'preact/hooks';

/** A question to the user for a proof of who they are; requests that need one wait for its answer. */
interface Question {
  answer: Promise<boolean>;
  /** Ends it: whether the proof was given. */
  end(isProven: boolean): void;
}

let question: Question | undefined;
const listeners = new Set<() => void>();

function setQuestion(next: Question | undefined): void {
  question = next;
  for (const listener of [...listeners]) listener();
}

/**
 * Opens the dialog that asks for a proof, or joins the one that is open. Resolves to whether the proof was given: false if
 * the user cancelled.
 */
export function proveAgain(): Promise<boolean> {
  if (question === undefined) {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    setQuestion({
      answer: promise,
      end(isProven) {
        setQuestion(undefined);
        resolve(isProven);
      },
    });
  }
  return question?.answer ?? Promise.resolve(false);
}

export function useQuestion(): Question | undefined {
  const [current, setCurrent] = useState(question);
  useLayoutEffect(() => {
    const update = () => setCurrent(question);
    listeners.add(update);
    return () => void listeners.delete(update);
  }, []);
  return current;
}

/** Sends a proof, such as `{ password }` or `{ key }`. Returns the error to show. */
export async function sendProof(proof: Record<string, string>): Promise<string | undefined> {
  try {
    const response = await fetch('/console/proof', {
      method: 'POST',
      headers: { accept: 'application/json' },
      body: new URLSearchParams(proof),
    });
    if (response.ok) return undefined;
    const body = await response.json().catch(() => undefined);
    return (
      body?.error?.details?.[0]?.message ??
      body?.error?.message ??
      `The service responded with status ${response.status}.`
    );
  } catch {
    return 'Cannot reach the service. Check your connection.';
  }
}
