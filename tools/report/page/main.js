// SPDX-License-Identifier: Apache-2.0
// Starts the page's timeline. What goes wrong is said on the page, since nobody looks into a browser's console.
"use strict";

async function start() {
  const data = await readData();
  const root = document.getElementById("timeline");
  fillLegend(data, root.querySelector(".legends"));
  const timeline = new Timeline(data, root);
  startSearch(data, timeline, root);
  for (const row of document.querySelectorAll("[data-task]")) {
    row.addEventListener("click", () => {
      timeline.showTask(Number(row.dataset.task));
      root.scrollIntoView({ behavior: "smooth" });
    });
  }
  window.commtask = { data, timeline };
  document.body.dataset.ready = "yes";
}

start().catch(error => {
  const said = element("p", `This page could not be drawn: ${error.message}. A browser of 2023 or newer is needed.`, "failure");
  document.body.prepend(said);
  throw error;
});
