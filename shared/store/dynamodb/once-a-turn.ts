/** What asks for `act`: it is called once at the end of the turn of the event loop, however often it was asked for in it. */
export function onceATurn(act: () => void): () => void {
  let isDue = false;
  return () => {
    if (isDue) return;
    isDue = true;
    setImmediate(() => {
      isDue = false;
      act();
    });
  };
}
