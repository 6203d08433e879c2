/** Compares names of clusters: demo-2 comes before demo-10. */
export const naturalOrder = new Intl.Collator('en', { numeric: true }).compare;
