/** Request that a library sent. */
export interface CapturedRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** A `fetch` for a library, and what it was asked for. */
interface CapturedFetch {
  readonly fetch: typeof fetch;
  /** Returns the first request. */
  readonly sent: () => CapturedRequest;
}

/** Creates a `fetch` that answers every request with one JSON. */
export function capturedFetch(answer: object): CapturedFetch {
  const requests: CapturedRequest[] = [];
  return {
    sent() {
      const [first] = requests;
      if (first === undefined) throw new Error('no request was sent');
      return first;
    },
    fetch: async (input, init = {}) => {
      const url = input instanceof Request ? input.url : String(input);
      const { method = 'GET', headers, body } = init;
      requests.push({
        url,
        method,
        headers: new Headers(headers),
        body: typeof body === 'string' ? JSON.parse(body) : body,
      });
      return Response.json(answer);
    },
  };
}
