/* A table that is wider than its place says so, and can be moved with the keyboard. */
addEventListener("DOMContentLoaded", () => {
  const places = document.querySelectorAll(".table-wrapper, .output_subarea");
  const look = () => places.forEach((place) => {
    const wide = place.scrollWidth > place.clientWidth + 1;
    place.classList.toggle("goes-on", wide);
    if (wide) place.tabIndex = 0; else place.removeAttribute("tabindex");
  });
  look();
  addEventListener("resize", look);
});
