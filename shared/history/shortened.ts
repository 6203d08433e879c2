/** Cuts a text of a record: long names and lists of ports would fill the record, and the time of its worker. */
export const shortened = (text: string, longest = 240): string => (text.length <= longest ? text : `${text.slice(0, longest)}…`);
