/** Cuts a text of a record: names and ports may make a reason, or what changed of an address, longer than anybody reads. */
export const shortened = (text: string, longest = 240): string => (text.length <= longest ? text : `${text.slice(0, longest)}…`);
