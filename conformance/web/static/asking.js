// Questions go to the Python process that serves this page. A static site uses site/asking.js instead.

export async function ask(question) {
  const reply = await fetch("ask", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(question) });
  if (!reply.ok) throw new Error(`the specification does not answer: ${reply.status}`);
  return reply.json();
}
