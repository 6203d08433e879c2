/**
 * Cuts a text of a record, because long names and lists of ports would fill the record and cost the worker
 * time.
 */
export const shortened = (text: string, longest = 240): string =>
  text.length <= longest ? text : `${text.slice(0, longest)}…`;
