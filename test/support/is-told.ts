/** Tells at any time whether a call has been told anything: an answer, or an error. */
export function watchCall(call: Promise<unknown>): { readonly isTold: boolean } {
  const watched = { isTold: false };
  const told = () => {
    watched.isTold = true;
  };
  call.then(told, told);
  return watched;
}
